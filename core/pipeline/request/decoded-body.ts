import { bodyTooLarge } from '../../contract/values/bodies/body-too-large.ts';
import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import { codings, contentDecoder } from '../../contract/values/bodies/content-decoder.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { BodyConsumer, BodyControl, HeaderList, InboundRequest, RequestBody } from '../../contract/values/http/http.ts';

/**
 * Returns the request with its body decoded and without `content-encoding`, for routes whose body is read. Coding agents compress long
 * conversations. A request without a coding is returned as it is.
 */
export function decodedRequest(request: InboundRequest): InboundRequest {
  const coding = request.header('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return request;
  const headers: HeaderList = [];
  for (let i = 0; i < request.headers.length; i += 2) {
    const name = request.headers[i] as string;
    if (name !== 'content-encoding' && name !== 'content-length') headers.push(name, request.headers[i + 1] as string);
  }
  const { method, path, query, remoteAddress, country = null, webSocketProtocols = null } = request;
  return {
    ...{ method, path, query, headers, remoteAddress, country, webSocketProtocols },
    header: (name) => (name === 'content-encoding' || name === 'content-length' ? undefined : request.header(name)),
    ownAddress: () => request.ownAddress?.() ?? '',
    body: new DecodedBody(request.body, coding),
  };
}

/** A body that is decoded as it arrives, in zlib's threads. Its limits apply to the decoded bytes. */
class DecodedBody implements RequestBody {
  readonly length = -1;
  readonly #source: RequestBody;
  readonly #coding: string;

  constructor(source: RequestBody, coding: string) {
    this.#source = source;
    this.#coding = coding;
  }

  bytes(maxBytes: number, onGrow?: (bytes: number) => void, onChunk?: (chunk: Uint8Array) => void): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const chunks = new ChunkList();
      const control = this.pipe(
        {
          onData(chunk) {
            try {
              onGrow?.(chunk.length);
              onChunk?.(chunk);
            } catch (refusal) {
              control.discard();
              reject(refusal);
            }
            chunks.push(chunk);
            return true;
          },
          onEnd: () => resolve(chunks.concat()),
          onError: reject,
        },
        maxBytes,
      );
    });
  }

  pipe(to: BodyConsumer, maxBytes: number): BodyControl {
    const decoder = contentDecoder(this.#coding);
    if (decoder === null) return this.#refuse(to, maxBytes, unknownCoding(this.#coding));
    let isOver = false;
    let size = 0;
    const stop = (): boolean => {
      const wasOver = isOver;
      isOver = true;
      decoder.destroy();
      return !wasOver;
    };
    const fail = (error: GatewayError): void => {
      if (!stop()) return;
      source.discard();
      to.onError(error);
    };
    decoder.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > maxBytes) fail(bodyTooLarge(maxBytes));
      else if (!isOver && !to.onData(chunk)) decoder.pause();
    });
    decoder.on('end', () => stop() && to.onEnd());
    decoder.on('error', () => fail(badBody(this.#coding)));
    decoder.on('drain', () => source.resume());
    const source = this.#source.pipe(
      {
        onData: (chunk) => isOver || decoder.write(chunk),
        onEnd: () => decoder.end(),
        onError: (error) => stop() && to.onError(error),
      },
      maxBytes,
    );
    return {
      resume: () => decoder.resume(),
      discard() {
        stop();
        source.discard();
      },
    };
  }

  #refuse(to: BodyConsumer, maxBytes: number, error: GatewayError): BodyControl {
    const ignore = (): boolean => true;
    const source = this.#source.pipe({ onData: ignore, onEnd: () => {}, onError: () => {} }, maxBytes);
    setImmediate(() => {
      source.discard();
      to.onError(error);
    });
    return { resume: () => {}, discard: () => source.discard() };
  }
}

function unknownCoding(coding: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `content-encoding: ${coding.slice(0, 100)} is not supported. Send ${codings.join(', ')} or no coding`,
    param: 'content-encoding',
  });
}

function badBody(coding: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `content-encoding: the body is not valid ${coding}`,
    param: 'content-encoding',
  });
}
