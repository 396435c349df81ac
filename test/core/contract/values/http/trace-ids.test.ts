import { expect, it } from 'vitest';
import {
  childSpanId,
  guardrailSpans,
  requestSpanId,
  w3cSpanId,
  w3cTraceId,
} from '../../../../../core/contract/values/http/trace-ids.ts';

it.each([
  ['a W3C trace id', '4bf92f3577b34da6a3ce929d0e0e4736', '4bf92f3577b34da6a3ce929d0e0e4736'],
  ['upper case', '4BF92F3577B34DA6A3CE929D0E0E4736', '4bf92f3577b34da6a3ce929d0e0e4736'],
  ['a UUID', 'b9c9f6d2-1111-4222-8333-444455556666', 'b9c9f6d2111142228333444455556666'],
])('trace ids: keep %s', (_, given, expected) => {
  expect(w3cTraceId(given)).toBe(expected);
});

it.each(['my-trace', '0'.repeat(32), '', 'é'.repeat(40)])('trace ids: hash %j to a valid id, always the same', (given) => {
  expect(w3cTraceId(given)).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
  expect(w3cTraceId(given)).toBe(w3cTraceId(given));
  expect(w3cSpanId(given)).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
});

it('span ids: attempts and guardrails of a request differ from each other and from the request', () => {
  const id = 'b9c9f6d2-1111-4222-8333-444455550001';
  const numbers = [1, 2, 3, 1000, guardrailSpans, guardrailSpans + 1];
  const ids = [requestSpanId(id, null), ...numbers.map((number) => childSpanId(id, number))];
  expect(new Set(ids).size).toBe(ids.length);
  for (const one of ids) expect(one).toMatch(/^[0-9a-f]{16}$/);
});
