/** Marks an encoded local part. The local part of a user's e-mail has no colon. */
const mark = ':';
const ascii = /^[\x21-\x7e]*$/;

/**
 * Returns the id of the document of a user: `<organisation id>/<e-mail>`. Ids are ASCII, so a local part with other characters is in base64url
 * after a colon. The domain of a user's e-mail is ASCII already.
 */
export function userDocumentId(organisationId: string, email: string): string {
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  const part = ascii.test(local) ? local : mark + Buffer.from(local).toString('base64url');
  return `${organisationId}/${part}${email.slice(at)}`;
}

/** Returns the organisation and the e-mail of an id of `userDocumentId`. Empty texts for parts that the id lacks. */
export function readUserDocumentId(id: string): { readonly organisationId: string; readonly email: string } {
  const slash = id.indexOf('/');
  const [organisationId, address] = [id.slice(0, Math.max(slash, 0)), id.slice(slash + 1)];
  const at = address.lastIndexOf('@');
  const isEncoded = at !== -1 && address.startsWith(mark);
  const email = isEncoded ? Buffer.from(address.slice(1, at), 'base64url').toString() + address.slice(at) : address;
  return { organisationId, email };
}
