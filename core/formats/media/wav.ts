/** Samples of a RIFF file and their format. */
export interface Wav {
  readonly sampleRate: number;
  /** The samples alone. */
  readonly samples: Uint8Array;
}

const headBytes = 44;

/**
 * Returns the header of a WAV file of 16-bit mono samples (RIFF/WAVE, format 1). `samplesBytes` null: a stream of unknown length,
 * which players read to its end.
 */
export function wavHead(sampleRate: number, samplesBytes: number | null): Uint8Array {
  const head = Buffer.alloc(headBytes);
  const length = samplesBytes ?? 0xffffffff - 36;
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(length + 36, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(length, 40);
  return head;
}

/** Reads a WAV file, or the beginning of one. Null for other files. Chunks other than `fmt ` and `data` are skipped. */
export function readWav(bytes: Uint8Array): Wav | null {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 12 || file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') return null;
  let sampleRate = 0;
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const from = at + 8;
    if (name === 'fmt ' && from + 8 <= file.length) sampleRate = file.readUInt32LE(from + 4);
    if (name === 'data') return { sampleRate, samples: file.subarray(from, Math.min(from + length, file.length)) };
    // Chunks begin at even offsets.
    at = from + length + (length % 2);
  }
  return null;
}
