import { expect, it } from 'vitest';
import { decodeProtobufRequest, encodeProtobuf } from '../../../../core/telemetry/otlp/protobuf.ts';

const limits = { fieldsMax: 1_000_000, itemFieldsMax: 1_000, itemsMax: 10_000 };
const attributes = Array.from({ length: 20 }, (_, n) => ({ key: `key-${n}`, value: { stringValue: 'text' } }));
const spans = Array.from({ length: 2_000 }, (_, n) => ({
  traceId: 'a'.repeat(32),
  spanId: n.toString(16).padStart(16, '1'),
  name: 'chat',
  attributes,
}));

it('a large batch of spans is read in many turns of the event loop', async () => {
  const message = {
    resourceSpans: [
      { resource: { attributes }, scopeSpans: [{ scope: { name: 'one' }, spans }], schemaUrl: 'https://example.com/1' },
      { scopeSpans: [{ scope: { name: 'two', version: '1' } }, { spans: spans.slice(0, 1) }] },
    ],
  };
  let turns = 0;
  let counting = setImmediate(function count() {
    turns++;
    counting = setImmediate(count);
  });
  const read = await decodeProtobufRequest('traces', encodeProtobuf('traces', message), limits);
  clearImmediate(counting);
  expect(read).toEqual(message);
  expect(turns).toBeGreaterThan(10);
});

it('a group, which other programs skip, is skipped', async () => {
  const group = Buffer.from([(7 << 3) | 3, 0x08, 1, (7 << 3) | 4]);
  const message = Buffer.concat([group, encodeProtobuf('traces', { resourceSpans: [{}] }), group]);
  expect(await decodeProtobufRequest('traces', message, limits)).toEqual({ resourceSpans: [{}] });
});
