import * as v from 'valibot';
import { callFailed, callService } from './call-service.ts';
import { bothSides, type Check, defineCheck, type Outcome } from './check.ts';
import { eventOf, headersOf } from './event.ts';
import { headers, refuseOwnHeaders, serviceUrl } from './outgoing-headers.ts';

const timeoutMs = 5000;

/** `default.log`: sends the event to another service. It passes whatever the service replies. */
export const log: Check = defineCheck({
  id: 'default.log',
  sides: bothSides,
  parameters: v.strictObject({ logURL: serviceUrl, headers }),
  prepare({ logURL: url, headers }, services) {
    refuseOwnHeaders({ headers }, services);
    return async (subject): Promise<Outcome> => {
      try {
        const body = await eventOf(subject, services);
        await callService(services, { url, headers: headersOf(subject, headers, []), body, timeoutMs });
        return { verdict: true, data: { message: `Logged the request to ${url}` } };
      } catch (thrown) {
        return callFailed(thrown, null);
      }
    };
  },
});
