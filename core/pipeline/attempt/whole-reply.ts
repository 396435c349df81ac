import type { UpstreamCall, UpstreamSender } from '../../contract/provider/upstream.ts';
import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';

export interface WholeReply {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/**
 * Makes one exchange and reads its whole reply. Rejects with the transport's GatewayError, or with `tooLarge` beyond `bytesMax`.
 */
export function readWholeReply(
  sender: UpstreamSender,
  call: UpstreamCall,
  bytesMax: number,
  tooLarge: () => GatewayError,
): Promise<WholeReply> {
  return new Promise((resolve, reject) => {
    const chunks = new ChunkList();
    let head: { status: number; headers: HeaderList } = { status: 0, headers: [] };
    const exchange = sender.send(call, {
      onHead(status, headers) {
        head = { status, headers };
      },
      onData(chunk) {
        chunks.push(chunk);
        if (chunks.bytes > bytesMax) {
          exchange.abort();
          reject(tooLarge());
        }
        return true;
      },
      onEnd: () => resolve({ ...head, body: chunks.concat() }),
      onError: reject,
    });
  });
}
