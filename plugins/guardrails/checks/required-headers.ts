import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import { type Check, defineCheck, requestSides } from './check.ts';
import { matchType, operator, prepareValues, wantedValues } from './wanted-values.ts';

const reasons = { all: 'all of', any: 'at least one of', none: 'none of' } as const;

/** `svc.requiredHeaders`: headers of the request with values. Results show names only, because values may be credentials. */
export const requiredHeaders: Check = defineCheck({
  id: 'svc.requiredHeaders',
  sides: requestSides,
  readsNoText: true,
  parameters: v.strictObject({ headers: wantedValues, operator, matchType }),
  prepare({ headers, operator, matchType }, { tasks }) {
    const match = prepareValues(headers, matchType, 'headers', tasks);
    return ({ ctx }) =>
      after(
        match(ctx, (name) => ctx.request.header(name.toLowerCase())),
        ({ found, missing }) => {
          const verdict = operator === 'any' ? found.length > 0 : operator === 'all' ? missing.length === 0 : found.length === 0;
          const explanation = `The request must have ${reasons[operator]} these headers with these values.`;
          return { verdict, data: { explanation, missing_headers: missing, found_headers: found, operator } };
        },
      );
  },
});
