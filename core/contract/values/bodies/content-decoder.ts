import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>;

/** Returns a decoder for the value of a `content-encoding` header; null for an unknown coding, a list of several, or none. */
export function contentDecoder(contentEncoding: string): Decoder | null {
  const coding = contentEncoding.trim().toLowerCase();
  return (Object.hasOwn(decoders, coding) ? decoders[coding]?.() : undefined) ?? null;
}

const chunkSize = 64 * 1024;
const gunzip = (): Decoder => createGunzip({ chunkSize });

/** Content codings. The window of zstd is the largest that HTTP allows (RFC 9659): a frame may name one of gigabytes. */
const decoders: Readonly<Record<string, () => Decoder>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: () => createInflate({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  zstd: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** Names of the codings that can be decoded. */
export const codings: readonly string[] = Object.keys(decoders);
