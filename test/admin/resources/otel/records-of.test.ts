import { expect, it } from 'vitest';
import { itemsOf, type OtlpItem } from '../../../../admin/resources/otel/items.ts';
import { recordsOf } from '../../../../admin/resources/otel/records-of.ts';

const attributes = [
  { key: 'gen_ai.request.model', value: { stringValue: 'm\0' } },
  { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
];
const ingest = { organisationId: 'o', workspaceId: 'w', apiKeyId: 'k', userId: null, path: '/v1/otel/v1/traces' };

it('the event loop turns while an export of many spans becomes records', async () => {
  const ids = Array.from({ length: 2_500 }, (_, i) => (i + 1).toString(16).padStart(16, '0'));
  const spans = ids.map((spanId) => ({
    traceId: '1'.repeat(32),
    spanId,
    startTimeUnixNano: 1e18,
    endTimeUnixNano: 1e18,
    attributes,
  }));
  let turns = 0;
  const turn = (): void => {
    turns++;
    turning = setImmediate(turn);
  };
  let turning = setImmediate(turn);
  const records = await recordsOf(
    (await itemsOf('traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] })) as OtlpItem[],
    ingest,
  );
  clearImmediate(turning);
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(records.map(({ spanId }) => spanId)).toEqual(ids);
  expect(new Set(records.map(({ model }) => model))).toEqual(new Set(['m\ufffd']));
});
