import { describe, expect, it } from 'vitest';
import type { FakeSink } from '../../../core/test-kit/fake-exchange.ts';
import { chatStream, createHarness, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { responsesStream } from '../../../core/test-kit/provider-scripts.ts';

const chat = '/v1/chat/completions';

/** Sends a request whose provider never ends its reply. `prepare` gets the sink before the request runs. */
async function sent(path: string, stream: boolean, script: Script, prepare: (sink: FakeSink) => void, headers = {}) {
  const gateway = createHarness();
  gateway.script(script);
  const body = path.endsWith('responses') ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
  const sink = await gateway.send({
    path,
    headers: { 'x-svc-provider': '@one', ...headers },
    body: { model: 'gpt-5', ...body, max_tokens: 5, stream },
    prepare,
  });
  await sink.done;
  return { sink, records: gateway.records, calls: gateway.calls };
}

/** The beginning of a stream without its end. */
function begun(script: Script): Script {
  return (call, handler) => script(call, { ...bound(handler), onEnd: () => {} });
}

function bound(handler: Parameters<Script>[1]): Parameters<Script>[1] {
  return {
    onHead: (status, headers) => handler.onHead(status, headers),
    onData: (chunk) => handler.onData(chunk),
    onEnd: () => handler.onEnd(),
    onError: (error) => handler.onError(error),
  };
}

const stopsAfterFirstByte = (sink: FakeSink): void => sink.onFirstWrite(() => setImmediate(() => sink.shutDown()));

describe('a request that outlasts DRAIN_TIMEOUT', () => {
  it.each([
    [chat, chatStream(['a', 'b']), /data: \{"error":\{"message":"This gateway is shutting down[^\n]*"code":"draining"\}\}\n\n$/],
    ['/v1/messages', chatStream(['a', 'b']), /event: error\ndata: \{"type":"error",[^\n]*"code":"draining"\}\}\n\n$/],
    [
      '/v1/responses',
      responsesStream(['a', 'b']),
      /event: error\ndata: \{"type":"error","sequence_number":\d+,"code":"draining"/,
    ],
  ])('%s: a stream ends with an error event', async (path, script, end) => {
    const { sink, records } = await sent(path, true, begun(script), stopsAfterFirstByte);
    expect(sink.text).toMatch(end);
    expect([sink.status, sink.destroyed]).toEqual([200, false]);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: 'cut', errorCode: 'draining' });
  });

  it('is cut if its bytes pass unchanged', async () => {
    const bytes: Script = (_call, handler) => {
      handler.onHead(200, ['content-type', 'text/plain']);
      handler.onData(Buffer.from('begun'));
    };
    const { sink, records } = await sent('/v1/things', false, bytes, stopsAfterFirstByte);
    expect([sink.text, sink.destroyed]).toEqual(['begun', true]);
    expect(records[0]).toMatchObject({ outcome: 'cut', errorCode: 'draining' });
  });

  it('is a 503 before its reply begins, without a further attempt', async () => {
    const config = { provider: '@one', retry: { attempts: 3, on_status_codes: [503] } };
    const silent: Script = () => setImmediate(() => sink?.shutDown());
    let sink: FakeSink | null = null;
    const done = await sent(chat, false, silent, (given) => (sink = given), { 'x-svc-config': JSON.stringify(config) });
    expect(done.sink.status).toBe(503);
    expect(done.sink.json).toMatchObject({ error: { code: 'draining' } });
    expect(done.calls).toHaveLength(1);
    expect(done.records).toHaveLength(1);
    expect(done.records[0]).toMatchObject({ outcome: 'failed', status: 503, attempts: [{ errorCode: 'draining' }] });
  });
});
