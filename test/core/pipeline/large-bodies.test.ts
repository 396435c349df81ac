import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BodyMemory } from '../../../core/contract/values/bodies/body-memory.ts';
import { HeldReply } from '../../../core/pipeline/attempt/held-reply.ts';
import { encodeForm, parseForm } from '../../../core/pipeline/request/form-data.ts';
import { chatReply, createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { harness } from '../prompts/prompt-harness.ts';

const chat = (rest: string) => `{"model":"@one/m","messages":[{"role":"user","content":"hello"}],${rest}}`;

class CountedTurns extends BodyMemory {
  turns = 0;
  override turn(): Promise<void> {
    this.turns++;
    return super.turn();
  }
}

describe('large JSON bodies', () => {
  it.each<[name: string, body: string, status: number, code: string]>([
    ['of empty objects', chat(`"x":[${'{},'.repeat(120_000)}{}]`), 413, 'body_too_large'],
    ['with a syntax error at its end', chat(`"x":"${'a'.repeat(2_000_000)}"`).slice(0, -1), 400, 'invalid_json'],
    ['with a control character', chat(`"x":"${'a'.repeat(2_000_000)}\u0001"`), 400, 'invalid_json'],
    ['of one long string', chat(`"x":"${'a'.repeat(2_000_000)}"`), 200, ''],
  ])('%s', async (_name, body, status, code) => {
    const gateway = createHarness();
    const reply = await gateway.send({ body });
    expect(reply.status).toBe(status);
    if (code !== '') expect((reply.json.error as { code: string }).code).toBe(code);
    expect(gateway.calls).toHaveLength(status === 200 ? 1 : 0);
  });

  it.each([
    ['that is longer than BODY_MEMORY_MAX', chat(`"x":"${'a'.repeat(5_000_000)}"`)],
    ['whose copies do not fit into BODY_MEMORY_MAX', chat(`"x":"${'a'.repeat(1_800_000)}"`)],
    ['whose many values do not fit into BODY_MEMORY_MAX', chat(`"x":[${'1,'.repeat(300_000)}1]`)],
  ])('%s is a 413 that names the setting, because a retry cannot succeed', async (_name, body) => {
    const memory = new BodyMemory(4 * 1024 * 1024);
    const gateway = createHarness({ memory });
    const reply = await gateway.send({ body });
    expect([reply.status, (reply.json.error as { code: string }).code]).toEqual([413, 'body_too_large']);
    expect((reply.json.error as { message: string }).message).toContain(
      '4194304 bytes for bodies of one process (BODY_MEMORY_MAX)',
    );
    expect(memory.usedBytes).toBe(0);
  });

  it.each([60_000, 70_000, 200_000])(
    'bodies above 64 KiB share turns of the event loop before they are parsed and before they are written: %i bytes',
    async (length) => {
      const memory = new CountedTurns(64 * 1024 * 1024);
      const gateway = createHarness({ memory });
      const body = chat(`"x":"${'a'.repeat(length)}"`);
      const replies = await Promise.all(Array.from({ length: 8 }, () => gateway.send({ body })));
      expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: 8 }, () => 200));
      expect(memory.turns).toBe(length > 65_536 ? 16 : 0);
    },
  );

  it('a prompt that repeats a variable is written in steps, and its bytes are counted', async () => {
    const memory = new CountedTurns(64 * 1024 * 1024);
    const gateway = harness({ memory });
    const held: number[] = [];
    gateway.script((call, handler) => {
      held.push(memory.usedBytes);
      return replyWith(200, chatReply('hi'))(call, handler);
    });
    const body = { variables: { name: 'a'.repeat(200_000) }, stream: true };
    await gateway.send({ path: '/v1/prompts/pp-chat/completions', headers: { 'x-svc-provider': '@one' }, body });
    const sent = gateway.calls[0]?.body as Uint8Array;
    expect(sent.length).toBeGreaterThan(400_000);
    // The request and its parsed value, the rendered body, and the sent one.
    expect(held[0]).toBeGreaterThan(2 * 200_000 + 2 * 400_000);
    // One before the request is parsed, one before the call is made, and some while it is written.
    expect(memory.turns).toBeGreaterThan(2);
  });

  it('long parameters of the config are counted with the body', async () => {
    const memory = new BodyMemory(64 * 1024 * 1024);
    const gateway = createHarness({ memory });
    const held: number[] = [];
    gateway.script((call, handler) => {
      held.push(memory.usedBytes);
      return replyWith(200, chatReply('hi'))(call, handler);
    });
    for (const y of ['', 'b'.repeat(300_000)]) {
      gateway.addConfig('long', { provider: '@one', override_params: { y } });
      await gateway.send({ headers: { 'x-svc-config': 'long' }, body: chat(`"x":"${'a'.repeat(70_000)}"`) });
    }
    expect(held[1]).toBeGreaterThan((held[0] as number) + 290_000);
  });

  it('wait for each other if they arrive together, so that all of them are served', async () => {
    const memory = new BodyMemory(4 * 1024 * 1024);
    const gateway = createHarness({ memory });
    const body = chat(`"x":"${'a'.repeat(900_000)}"`);
    const replies = await Promise.all(Array.from({ length: 8 }, () => gateway.send({ body })));
    expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(memory.usedBytes).toBe(0);
  });
});

describe('a large response', () => {
  const chunk = Buffer.alloc(64 * 1024, 'a');
  const event = Buffer.from('data: {"id":"c","choices":[{"delta":{"content":"a"}}]}\n\n');
  const events = Buffer.concat(Array.from({ length: 100 }, () => event));
  const done = 'data: [DONE]\n\n';
  it.each<[name: string, head: string, tail: string, type: string, repeated: Buffer, count: number]>([
    ['of JSON', '{"id":"c","choices":[{"message":{"content":"', '"}}]}', 'application/json', chunk, 15],
    [
      'of one stream event',
      'data: {"id":"c","choices":[{"delta":{"content":"',
      `"}}]}\n\n${done}`,
      'text/event-stream',
      chunk,
      15,
    ],
    ['of small events, one per chunk,', '', done, 'text/event-stream', event, 970],
    ['of small events, a hundred per chunk,', '', done, 'text/event-stream', events, 18],
  ])('%s makes the provider wait after 1 MiB or its equivalent in a turn', async (_name, head, tail, type, repeated, count) => {
    const gateway = createHarness({ memory: new BodyMemory(64 * 1024 * 1024) });
    const accepted: number[] = [];
    gateway.script(async (_call, handler) => {
      handler.onHead(200, ['content-type', type]);
      // Fills the part of a response that does not count.
      handler.onData(Buffer.concat([Buffer.from(head), repeated]));
      while (head === '' && handler.onData(repeated));
      for (let turn = 0; turn < 2; turn++) {
        await nextTurn();
        await nextTurn();
        let chunks = 0;
        while (handler.onData(repeated) && chunks < 5000) chunks++;
        accepted.push(chunks);
      }
      handler.onData(Buffer.from(tail));
      handler.onEnd();
    });
    const reply = await gateway.send({ body: chat(`"stream":${type !== 'application/json'}`) });
    expect(reply.status).toBe(200);
    expect(accepted).toEqual([count, count]);
  });
});

it('a buffered reply joins its chunks once', () => {
  const held = new HeldReply();
  for (const text of ['a', 'b', 'c']) held.push(200, Buffer.from(text), 'one');
  expect(held.body.toString()).toBe('abc');
  expect(held.body).toBe(held.body);
});

describe('a hostile form', () => {
  const type = 'multipart/form-data; boundary=b';
  const part = (headers: string, body = 'x') => `--b\r\n${headers}\r\n\r\n${body}\r\n`;

  it('with 100,000 parts is rejected', async () => {
    const body = Buffer.from(`${part('content-disposition: form-data; name="a"').repeat(100_000)}--b--\r\n`);
    await expect(parseForm(body, type)).rejects.toThrow('more than 1000 parts');
  });

  it('with a part header of 1 MB is rejected', async () => {
    const long = part(`content-disposition: form-data; name="a"\r\nx-long: ${'a'.repeat(1_000_000)}`);
    const body = Buffer.from(`${part('content-disposition: form-data; name="model"', 'm')}${long}--b--\r\n`);
    await expect(parseForm(body, type)).rejects.toThrow('the header of part 2 is longer than 16384 bytes');
  });

  it('with a text field of over 1 MiB is rejected, not cut', async () => {
    const body = Buffer.from(`${part('content-disposition: form-data; name="a"', 'a'.repeat(1024 * 1024 + 1))}--b--\r\n`);
    await expect(parseForm(body, type)).rejects.toThrow('the field a is longer than 1048576 bytes and has no file name');
  });

  it('with a field that is not UTF-8 keeps its bytes', async () => {
    const audio = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const head = Buffer.from(
      '--b\r\ncontent-disposition: form-data; name="file"\r\ncontent-type: application/octet-stream\r\n\r\n',
    );
    const rest = Buffer.from('\r\n--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\n\ufffdé\r\n--b--\r\n');
    const parts = await parseForm(Buffer.concat([head, audio, rest]), type);
    expect(parts.map(({ name, filename }) => [name, filename])).toEqual([
      ['file', null],
      ['prompt', null],
    ]);
    expect(Buffer.from(parts[0]?.body ?? []).equals(audio)).toBe(true);
    expect(Buffer.from(parts[1]?.body ?? []).toString()).toBe('\ufffdé');
    expect(Buffer.from(encodeForm(parts).body).includes(audio)).toBe(true);
  });

  it('with line ends and quotes in its names is one part when it is sent on', async () => {
    const name = 'a"; x="\r\ncontent-type: text/html\r\n\r\n--b';
    const { contentType, body } = encodeForm([{ name, filename: name, contentType: null, body: Buffer.from('x') }]);
    expect(Buffer.from(body).toString()).not.toMatch(/^content-type: text/m);
    expect(await parseForm(body, contentType)).toMatchObject([
      { contentType: 'application/octet-stream', body: Buffer.from('x') },
    ]);
  });

  it('with a long body in its last part is read', async () => {
    const body = Buffer.from(`${part('content-disposition: form-data; name="f"; filename="f"', 'a'.repeat(100_000))}--b--\r\n`);
    expect((await parseForm(body, type)).map(({ name, body: bytes }) => [name, bytes.length])).toEqual([['f', 100_000]]);
  });
});
