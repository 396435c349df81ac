import { domainToASCII } from 'node:url';

const nonAscii = /[^\u0000-\u007f]/;

/**
 * Returns the one spelling of an e-mail address: in lower case, normalised, with the domain in ASCII. `Ada@Bücher.example` and
 * `ada@xn--bcher-kva.example` are the same mailbox, and so are `ada@ｃorp。example` and `ada@corp.example`. A domain that has no
 * ASCII form stays as it is.
 */
export function plainAddress(address: string): string {
  const text = address.normalize('NFC');
  const at = text.lastIndexOf('@') + 1;
  return text.slice(0, at).toLowerCase() + plainDomain(text.slice(at));
}

/** Returns the one spelling of a domain: in lower case and ASCII. A text that has no ASCII form stays as it is. */
export function plainDomain(domain: string): string {
  const text = domain.normalize('NFKC').replaceAll('\u3002', '.').toLowerCase();
  if (!nonAscii.test(text) || text.length > 253) return text;
  // UTS 46 would ignore invisible letters. An address that contains them is refused instead.
  return /[\p{C}\p{Z}]/u.test(text) ? text : domainToASCII(text) || text;
}
