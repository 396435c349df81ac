import { describe, expect, it } from 'vitest';
import { parseMessage, type RpcError, rpcCodes } from '../../../core/json-rpc/messages.ts';

const call = (text: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${text}"}}`;
const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))));

/** Returns the code of the error, or null if the message is read. */
function codeOf(body: Uint8Array): number | null {
  try {
    parseMessage(body);
    return null;
  } catch (thrown) {
    return (thrown as RpcError).rpcCode;
  }
}

describe('messages of clients', () => {
  it.each([
    ['ASCII', 'echo'],
    ['accents', 'é'],
    ['long Chinese text', '今天'.repeat(2_000)],
    ['a byte order mark inside', 'a\ufeffb'],
  ])('hold %s, with and without a byte order mark before them', (_name, text) => {
    for (const mark of ['', '\ufeff']) expect(parseMessage(bytesOf(mark, call(text))).params.name).toBe(text);
  });

  it.each([
    ['nothing', bytesOf('')],
    ['a byte order mark alone', bytesOf('\ufeff')],
    ['two byte order marks', bytesOf('\ufeff\ufeff', call('a'))],
    ['a character cut inside', bytesOf('{"jsonrpc":"2.0","id":1,"method":"', [0xe4, 0xbd], '"}')],
    ['a surrogate', bytesOf('{"jsonrpc":"2.0","id":1,"method":"', [0xed, 0xa0, 0x80], '"}')],
    ['an overlong quote', bytesOf('{"jsonrpc":"2.0","id":1,"method":"', [0xc0, 0xa2], '"}')],
    ['UTF-16', Buffer.from(call('a'), 'utf16le')],
    ['JSON that is cut', bytesOf('{"jsonrpc":"2.0"')],
  ])('are a parse error if they are %s', (_name, body) => {
    expect(codeOf(body)).toBe(rpcCodes.parse);
  });

  it.each(['null', '1', '"a"', '[]', '{}', '{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}'])(
    'are an invalid request if they are %s',
    (text) => {
      expect(codeOf(bytesOf(text))).toBe(rpcCodes.invalidRequest);
    },
  );
});

it.each([
  ['resources/subscribe', {}, null],
  ['resources/unsubscribe', {}, null],
  ['resources/subscribe', { uri: ['a'] }, -32602],
  ['resources/read', {}, -32602],
  ['tools/call', {}, -32602],
])('%s with the parameters %j is refused with the code %s before a server is called', (method, params, code) => {
  const read = () => parseMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })));
  if (code === null) expect(read()).toMatchObject({ kind: 'request', method });
  else expect(read).toThrow(expect.objectContaining({ rpcCode: code }));
});
