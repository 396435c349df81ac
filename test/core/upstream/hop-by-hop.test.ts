import { describe, expect, it } from 'vitest';
import { toReplyHeaders, withoutHopByHop } from '../../../core/upstream/hop-by-hop.ts';

describe('withoutHopByHop', () => {
  it('returns the same list if nothing has to be removed', () => {
    const headers = ['accept', '*/*', 'x-request-id', '1', 'cookie', 'a=b', 'te-x', 'y'];
    expect(withoutHopByHop(headers)).toBe(headers);
  });

  it('removes every hop-by-hop and framing header and leaves the order of the rest', () => {
    const gone = [
      'connection',
      'keep-alive',
      'proxy-connection',
      'proxy-authenticate',
      'proxy-authorization',
      'te',
      'trailer',
      'transfer-encoding',
      'upgrade',
      'host',
      'content-length',
      'expect',
    ];
    expect(withoutHopByHop(['a', '1', ...gone.flatMap((name) => [name, 'x']), 'b', '2'])).toEqual(['a', '1', 'b', '2']);
  });

  it('removes the headers that any Connection header names, in any case and spacing', () => {
    const headers = ['x-one', '1', 'connection', 'X-One ,  close', 'x-two', '2', 'connection', ',x-two,', 'x-one-more', '3'];
    expect(withoutHopByHop(headers)).toEqual(['x-one-more', '3']);
  });
});

describe('toReplyHeaders', () => {
  it('keeps repeated headers and drops hop-by-hop ones', () => {
    const headers = {
      'content-type': 'text/plain',
      'set-cookie': ['a=1', 'b=2'],
      connection: 'keep-alive, X-Internal',
      'keep-alive': 'timeout=5',
      'x-internal': 'secret',
      'transfer-encoding': 'chunked',
      'content-length': '3',
      upgrade: 'h2c',
    };
    expect(toReplyHeaders(headers)).toEqual([
      'content-type',
      'text/plain',
      'set-cookie',
      'a=1',
      'set-cookie',
      'b=2',
      'content-length',
      '3',
    ]);
  });
});
