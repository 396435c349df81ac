import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { readOtlpBody } from '../../../../admin/resources/otel/read-otlp-body.ts';

it('other requests are served while a large body of JSON is parsed', async () => {
  const spans = Array.from({ length: 24_000 }, (_, n) => ({ name: `span ${n}`, attributes: [] }));
  const message = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns++;
    setImmediate(count);
  };
  const app = new Hono().post('/', async (call) => {
    setImmediate(count);
    const read = await readOtlpBody('traces')(call.req);
    isOver = true;
    return call.json({ isEqual: JSON.stringify(read) === JSON.stringify(message) });
  });
  const body = JSON.stringify(message);
  const reply = await app.request('/', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  expect(await reply.json()).toEqual({ isEqual: true });
  expect(turns).toBeGreaterThan(body.length / (128 * 1024));
});
