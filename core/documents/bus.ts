/** Delivers change notices to this process, fast but without a guarantee. The follower requests the missing ones. */
export interface ChangeBus {
  /**
   * Listens until `close`, whether or not the other side is reachable. `onNotice` receives each message unchecked. `onConnected`
   * is called after every connect and reconnect, because notices may have been missed.
   */
  start(onNotice: (message: unknown) => void, onConnected: () => void): void;
  /** Ends the callbacks. Safe to call twice. */
  close(): Promise<void>;
}

/** Small notices between gateways beside the changes, on the same connection. */
export interface NoticeBus {
  /** Sends the message if connected, and drops it otherwise. */
  publish(subject: string, notice: object): void;
  /** The limit of the server for one message in bytes; null while it is not known. */
  messageBytesMax(): number | null;
  /** Must be called before `start`. The listener receives messages of other processes unchecked, never those of this process. */
  subscribe(subject: string, listener: (message: Uint8Array) => void): void;
}
