import { describe, expect, it, vi } from 'vitest';
import { fileOfBase64 } from '../../../../../core/contract/values/bodies/encoded-file.ts';

const read = (text: string) => Buffer.from(fileOfBase64(text, null)?.bytes ?? []).toString();

describe('a file in base64', () => {
  it.each([
    ['padding behind whole groups', 'QUJD=REVG', 'ABCDEF'],
    ['padding that comes too early', 'QU=JDREVG', 'ABCDEF'],
    ['padding behind each character', 'Q=U=J=D=', 'AB'],
    ['several files', 'QUI=QUI=', 'ABAB'],
    ['two signs of padding in a line', 'QQ==\nQUJD', 'AABC'],
    ['bits behind the last byte', 'QUJ=QUJD', 'ABABC'],
    ['the alphabet of URLs', 'Pz8_=Pj4-', '???>>>'],
    ['padding at its end', 'QUI=\n', 'AB'],
  ])('is read with %s', (_title, text, file) => {
    expect(read(text)).toBe(file);
  });

  it('is read into one buffer, however many signs of padding it has', () => {
    const made = vi.spyOn(Buffer, 'from');
    const file = fileOfBase64('QUI='.repeat(1000), null);
    const calls = made.mock.calls.length;
    made.mockRestore();
    expect(file?.bytes.length).toBe(2000);
    expect(calls).toBeLessThanOrEqual(1);
  });
});
