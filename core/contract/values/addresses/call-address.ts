/** The address of a call, as a transport takes it. */
export interface CallAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** With its query, if any. */
  readonly path: string;
}

/** Checks the text of a URL that may be called. Throws GatewayError `invalid_custom_host`. */
export type ParseUrl = (url: string) => CallAddress;
