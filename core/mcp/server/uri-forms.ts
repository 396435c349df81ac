const escapes = /(?:%[0-9a-f]{2})+/gi;

/**
 * Returns a URI with the other texts that servers may read in it. The SDKs for TypeScript and Python (1.x) parse URIs as browsers do: they resolve
 * `..` and remove line breaks, and schemes become lower case. Servers decode the values of templates.
 */
export function formsOf(uri: string): ReadonlySet<string> {
  const parsed = parsedForm(uri);
  const decoded = parsed.replace(escapes, decodedForm);
  return new Set([uri, parsed, decoded, parsedForm(decoded)]);
}

function parsedForm(uri: string): string {
  return URL.parse(uri)?.href ?? uri;
}

function decodedForm(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}
