/** Sends small notices to other gateway processes: fast, without guaranteed delivery. */
export interface NoticeChannel<Notice extends object> {
  send(notice: Notice): void;
  /** Maximum size of a notice in bytes of JSON at present; null or absent: not known, or none. A longer notice is dropped. */
  bytesMax?(): number | null;
  /** Passes on each message unchecked, as it arrived: JSON bytes, or a value over IPC. Called once. */
  listen(onNotice: (message: unknown) => void): void;
  /** Ends the callbacks. Safe to call twice. */
  close(): void;
}
