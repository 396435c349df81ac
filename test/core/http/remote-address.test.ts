import { describe, expect, it } from 'vitest';
import { remoteAddressOf } from '../../../core/http/remote-address.ts';

const bytes = (...values: number[]): ArrayBuffer => new Uint8Array(values).buffer;
const groups = (...values: number[]): ArrayBuffer => bytes(...values.flatMap((value) => [value >> 8, value & 0xff]));

describe('remote address', () => {
  it.each([
    [bytes(127, 0, 0, 1), '127.0.0.1'],
    [groups(0, 0, 0, 0, 0, 0xffff, 0x0a00, 0x00ff), '10.0.0.255'],
    [groups(0, 0, 0, 0, 0, 0, 0, 1), '::1'],
    [groups(0, 0, 0, 0, 0, 0, 0, 0), '::'],
    [groups(0x2001, 0xdb8, 0, 0, 1, 0, 0, 0), '2001:db8:0:0:1::'],
    [groups(0x2001, 0xdb8, 0, 0, 1, 0, 0, 1), '2001:db8::1:0:0:1'],
    [groups(0x2001, 0xdb8, 0, 1, 1, 1, 1, 1), '2001:db8:0:1:1:1:1:1'],
    [groups(0xfe80, 0, 0, 0, 0xabcd, 2, 3, 4), 'fe80::abcd:2:3:4'],
    [bytes(), ''],
  ])('is written in its shortest form: %#', (address, text) => {
    expect(remoteAddressOf(address)).toBe(text);
  });
});
