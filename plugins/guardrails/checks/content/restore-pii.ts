import * as v from 'valibot';
import { counted } from '../../../../core/contract/values/text/counted.ts';
import { withTexts } from '../../with-texts.ts';
import { type Check, defineCheck } from '../check.ts';
import { rememberedOf, restore } from './placeholders.ts';

/** `svc.restorePii`: puts the data back into a response that `svc.pii` with `restore` took out of its request. */
export const restorePii: Check = defineCheck({
  id: 'svc.restorePii',
  sides: ['output'],
  changes: true,
  parameters: v.strictObject({}),
  prepare:
    () =>
    ({ ctx, body, parts }) => {
      const placeholders = rememberedOf(ctx);
      const texts = parts.map(({ text }) => restore(text, placeholders));
      const restored = texts.filter((text, index) => text !== parts[index]?.text).length;
      const data = { explanation: `Placeholders were replaced in ${counted(restored, 'text')}.` };
      return restored === 0 ? { verdict: true, data } : { verdict: true, data, body: withTexts(body, parts, texts) };
    },
});
