import { duplicateKeySteps, hasDuplicateKeys, scannedAtOnce } from '../../values/json/duplicate-keys.ts';
import { after, type Maybe } from '../../values/maybe.ts';
import { textOf } from '../../values/text/utf8.ts';
import type { RequestContext } from '../context.ts';

/**
 * Sends the parsed body if an object of it has a name twice, and returns true. Plugins read the last value, and the provider might read the first
 * one in the bytes of the client.
 */
export function sendLastNames(ctx: RequestContext): Maybe<boolean> {
  return after(hasNameTwice(ctx), (isTwice) => {
    if (isTwice) ctx.bodyChanged = true;
    return isTwice;
  });
}

function hasNameTwice(ctx: RequestContext): Maybe<boolean> {
  const { params, form, bodyLayout } = ctx;
  const bytes = bodyLayout?.bytes ?? (ctx.bodyChanged ? null : ctx.body);
  if (bytes === null || params === null || form !== null || bytes.length === 0) return false;
  const text = textOf(bytes);
  const parsed = bodyLayout?.parsed ?? params;
  return text.length > scannedAtOnce ? ctx.inTurns(duplicateKeySteps(text, parsed)) : hasDuplicateKeys(text, parsed);
}
