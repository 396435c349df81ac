/** Returns the error if the service cannot run under this version of Node, otherwise null. Uses only features of Node 18. */
export function nodeVersionIssue(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 22 && minor >= 19) return null;
  return `node: got v${version}, expected 22.19 or a later 22, such as node_modules/.bin/node, which npm ci installs`;
}
