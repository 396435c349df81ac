/** Delivers change notices to this process, fast but without a guarantee. The follower requests the missing ones. */
export interface ChangeBus {
  /**
   * Begins to listen and continues forever; never fails because the other side is away. `onNotice` gets each message as it
   * came, unchecked. `onConnected` is called whenever the connection was made or made again: notices may have been missed.
   */
  start(onNotice: (message: unknown) => void, onConnected: () => void): void;
  /** No callback after this. Safe to call twice. */
  close(): Promise<void>;
}

/** Small notices between gateways beside the changes, on the same connection. */
export interface NoticeBus {
  /** Sends the message if connected, and drops it otherwise. */
  publish(subject: string, notice: object): void;
  /** Must be called before `start`. The listener gets what others have sent, unchecked; never what this process sent. */
  subscribe(subject: string, listener: (message: Uint8Array) => void): void;
}
