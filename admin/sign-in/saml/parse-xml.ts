import { createRequire } from 'node:module';
import { scanXml } from './scan-xml.ts';

/** The part of an XML element that readers of SAML need. */
export interface XmlElement {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly parentNode: XmlElement | null;
  readonly childNodes: ArrayLike<XmlElement & { readonly nodeType: number }>;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<XmlElement>;
}

interface XmlLibrary {
  readonly DOMParser: new (
    options: object,
  ) => {
    parseFromString(xml: string, type: string): { readonly documentElement: XmlElement | null } | undefined;
  };
}

/** Loaded only if SAML is used, and without its types, which would add those of browsers to the whole project. */
function library(): XmlLibrary {
  return createRequire(import.meta.url)('@xmldom/xmldom');
}

const elementNode = 1;

/** Parses XML and returns its root; null if it is not well-formed or too large. Check first that there is no document type. */
export function parseXml(xml: string): XmlElement | null {
  if ('reason' in scanXml(xml)) return null;
  let isBroken = false;
  const note = () => {
    isBroken = true;
  };
  const { DOMParser } = library();
  const errorHandler = { warning: () => {}, error: note, fatalError: note };
  try {
    const root = new DOMParser({ errorHandler }).parseFromString(xml, 'text/xml')?.documentElement ?? null;
    return isBroken ? null : root;
  } catch {
    return null;
  }
}

/** All elements of this name below the parent. */
export function elements(parent: XmlElement, namespace: string, name: string): XmlElement[] {
  return Array.from(parent.getElementsByTagNameNS(namespace, name));
}

/** The direct children of this name. */
export function children(parent: XmlElement, namespace: string, name: string): XmlElement[] {
  return Array.from(parent.childNodes).filter(
    (one) => one.nodeType === elementNode && one.namespaceURI === namespace && one.localName === name,
  );
}
