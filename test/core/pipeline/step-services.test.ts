import { expect, it } from 'vitest';
import { openSteps, type StepOptions } from '../../../core/pipeline/step-services.ts';

/** Steps whose store answers with this status. */
const stepsOver = (status: number) =>
  openSteps({
    resolved: {} as StepOptions['resolved'],
    call: { timeouts: {} } as StepOptions['call'],
    transport: {
      send(_call, handler) {
        queueMicrotask(() => {
          handler.onHead(status, []);
          handler.onData(Buffer.from('line'));
          handler.onEnd();
        });
        return { resume: () => {}, abort: () => {} };
      },
      close: async () => {},
    },
    sign: () => undefined,
    caller: { organisationId: 'o', workspaceId: 'w', keyId: 'k', userId: null } as StepOptions['caller'],
    isLeft: () => false,
    body: async function* () {},
  });

it.each([
  ['read where it is there', 200, 'line'],
  ['said not to be there where the store says so', 404, 'not_found'],
  ['not said to be away where it is the store that is', 503, 'unavailable'],
])('a file of the service is %s', async (_, status, expected) => {
  const read = async () => {
    let text = '';
    for await (const chunk of stepsOver(status).services.ownFile('svc_file_1')) text += Buffer.from(chunk).toString();
    return text;
  };
  expect(await read().catch(({ code }) => code)).toBe(expected);
});
