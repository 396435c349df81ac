import type { UpstreamCall, UpstreamExchange, UpstreamHandler, UpstreamSender } from '../../contract/provider/upstream.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { isCredentialHeader } from '../../contract/values/http/credential-headers.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { sendDecoded } from './decoded-response.ts';

type Owner = Pick<ResolvedTarget, 'slug' | 'credentials' | 'headers'>;

/** Shorter values are hidden nowhere: they occur in ordinary texts. */
const lengthMin = 8;
const star = '*'.charCodeAt(0);
const none = Buffer.alloc(0);

/**
 * Returns a handler that replaces the credentials of a stored provider in its error responses, headers included, by as many stars. Some
 * providers repeat the credential in the error, such as Google for a suspended key, and callers of the gateway must not see it. Accepted
 * responses pass unchanged. A response with a content coding must be decoded before.
 */
export function hideCredentials(owner: Owner, handler: UpstreamHandler): UpstreamHandler {
  return owner.slug === null ? handler : new HiddenCredentials(owner, handler);
}

/** Sends a pass-through call. Responses are decoded only if credentials are searched in them. */
export function sendPassed(sender: UpstreamSender, call: UpstreamCall, owner: Owner, handler: UpstreamHandler): UpstreamExchange {
  if (owner.slug === null) return sender.send(call, handler);
  return sendDecoded(sender, call, hideCredentials(owner, handler), hidesCredentials);
}

/** Returns true for the status of a response in which credentials are searched. */
function hidesCredentials(status: number): boolean {
  return status >= 400;
}

/** Returns a sender for a stored provider whose handlers see error responses without its credentials. */
export function hidingSender(sender: UpstreamSender, owner: Owner): UpstreamSender {
  if (owner.slug === null) return sender;
  return { send: (call, handler) => sender.send(call, hideCredentials(owner, handler)) };
}

class HiddenCredentials implements UpstreamHandler {
  readonly #owner: Owner;
  readonly #handler: UpstreamHandler;
  #secrets: readonly string[] = [];
  /** The end of the bytes so far, in which a credential may begin. */
  #rest = none;

  constructor(owner: Owner, handler: UpstreamHandler) {
    this.#owner = owner;
    this.#handler = handler;
  }

  onHead(status: number, headers: HeaderList): void {
    if (!hidesCredentials(status)) return this.#handler.onHead(status, headers);
    this.#secrets = secretsOf(this.#owner);
    this.#handler.onHead(
      status,
      headers.map((text) => hideIn(text, this.#secrets)),
    );
  }

  onWebSocket(...given: Parameters<NonNullable<UpstreamHandler['onWebSocket']>>): void {
    this.#handler.onWebSocket?.(...given);
  }

  onData(chunk: Uint8Array): boolean {
    const longest = this.#secrets[0];
    if (longest === undefined) return this.#handler.onData(chunk);
    const bytes = Buffer.concat([this.#rest, chunk]);
    for (const secret of this.#secrets) {
      for (let at = bytes.indexOf(secret); at !== -1; at = bytes.indexOf(secret, at + secret.length)) {
        bytes.fill(star, at, at + Buffer.byteLength(secret));
      }
    }
    const passed = Math.max(0, bytes.length - Buffer.byteLength(longest) + 1);
    this.#rest = bytes.subarray(passed);
    return passed === 0 ? true : this.#handler.onData(bytes.subarray(0, passed));
  }

  onEnd(): void {
    if (this.#rest.length > 0) this.#handler.onData(this.#rest);
    this.#handler.onEnd();
  }

  onError(error: GatewayError): void {
    this.#handler.onError(error);
  }
}

/** The values with which calls authenticate, longest first: one may contain another. */
export function secretsOf({ credentials, headers }: Omit<Owner, 'slug'>): string[] {
  const values = Object.values(credentials).map((secret) => secret.reveal());
  for (let i = 0; i < headers.length; i += 2) {
    if (isCredentialHeader(headers[i] as string))
      values.push((headers[i + 1] as string).replace(/^(Bearer|Basic|Key|Token) +/i, ''));
  }
  return [...new Set(values)].filter((value) => value.length >= lengthMin).sort((a, b) => b.length - a.length);
}

/** Returns the text with as many stars in the place of each secret. */
export function hideIn(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '*'.repeat(secret.length)), text);
}
