const backslash = 92;

/** True for a quote in a JSON string with an odd number of backslashes before it, which does not end the string. */
export function isEscaped(text: string, quote: number): boolean {
  let at = quote;
  while (text.charCodeAt(at - 1) === backslash) at--;
  return (quote - at) % 2 === 1;
}
