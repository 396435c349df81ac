import { invalid } from '../../http/errors.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import type { Headers } from '../../secrets/sealed-headers.ts';

/**
 * A stored header stays on the host it was stored for. Otherwise a change of the URL would send it elsewhere. `sent` has names in lower
 * case. Throws AB01 with the headers that the request must contain.
 */
export function refuseMove(stored: Headers, sent: Headers): void {
  const unchanged = Object.keys(stored).filter((name) => sent[name] === undefined || isMasked(sent[name]));
  if (unchanged.length === 0) return;
  const names = unchanged.map((name) => `configurations.headers.${name}`).join(', ');
  throw invalid(`url: a new host requires the headers again. Send ${names}`);
}
