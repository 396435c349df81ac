import type { AddedCheck } from '../../../core/contract/plugin/guardrails/plugin-check.ts';
import { after, all } from '../../../core/contract/values/maybe.ts';
import { withTexts } from '../with-texts.ts';
import type { Check } from './check.ts';

/** Returns a check of a third-party plugin as the guardrails run it. Its errors are those of a check that cannot run. */
export function fromPlugin(added: AddedCheck): Check {
  const { id, sides, changes, readsNoText, parameters } = added;
  return {
    id,
    sides,
    parameters,
    ...(changes ? { changes } : {}),
    ...(readsNoText ? { readsNoText } : {}),
    prepare:
      (given) =>
      ({ side, body, parts, text, model, requestType, metadata }) => {
        const texts = parts.map((part) => part.text);
        const context = { parameters: given, side, texts, model, requestType, metadata };
        if (!changes) return after(added.run(text, context), ({ verdict, data }) => ({ verdict, data }));
        return after(all(texts.map((each) => added.run(each, context))), (decisions) => {
          const verdict = decisions.every((decision) => decision.verdict);
          const data = decisions.find((decision) => decision.data !== null)?.data ?? null;
          const changed = withTexts(
            body,
            parts,
            decisions.map((decision, index) => decision.text ?? (texts[index] as string)),
          );
          return changed === body ? { verdict, data } : { verdict, data, body: changed };
        });
      },
  };
}
