/**
 * Returns a URL or path without slashes at its end. The search begins at the first slash of a run only, so that it takes linear time:
 * addresses come from cards of agents and from headers too.
 */
export function withoutTrailingSlashes(text: string): string {
  return text.replace(/(?<!\/)\/+$/, '');
}
