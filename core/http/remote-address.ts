/**
 * Returns a peer address as text from its 4 or 16 bytes. IPv4 in mapped form (`::ffff:a.b.c.d`) becomes IPv4. IPv6 has the form
 * of RFC 5952: lower-case, no leading zeros, the first longest run of zero groups as `::`.
 */
export function remoteAddressOf(address: ArrayBuffer): string {
  const bytes = new Uint8Array(address);
  if (bytes.length === 4) return ipv4(bytes, 0);
  if (bytes.length !== 16) return '';
  if (isMapped(bytes)) return ipv4(bytes, 12);
  return ipv6(bytes);
}

function ipv4(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

function ipv6(bytes: Uint8Array): string {
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] as number) << 8) | (bytes[i + 1] as number));
  const [from, length] = longestZeroRun(groups);
  const text = (part: number[]): string => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return text(groups);
  return `${text(groups.slice(0, from))}::${text(groups.slice(from + length))}`;
}

function longestZeroRun(groups: readonly number[]): [from: number, length: number] {
  let from = 0;
  let length = 0;
  for (let i = 0; i < groups.length; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i > length) {
      from = i;
      length = end - i;
    }
  }
  return [from, length];
}
