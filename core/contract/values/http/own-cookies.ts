/** Names of the cookies of this service. With TLS they have the prefix `__Host-`. */
export const ownCookies = { session: 'svc_session', signIn: 'svc_sign_in' } as const;

/** Returns a `cookie` header without the cookies of this service, which no provider may see. Empty if no others are left. */
export function withoutOwnCookies(header: string): string {
  if (!header.includes('svc_')) return header;
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => !isOwn(pair.split('=', 1)[0] as string))
    .join('; ');
}

function isOwn(name: string): boolean {
  const plain = name.trim().replace(/^__Host-/, '');
  return plain === ownCookies.session || plain === ownCookies.signIn;
}
