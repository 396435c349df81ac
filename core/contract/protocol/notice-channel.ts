/** Sends small notices to other gateway processes: fast, without guaranteed delivery. */
export interface NoticeChannel<Notice extends object> {
  send(notice: Notice): void;
  /** Passes on each message unchecked, as it arrived: JSON bytes, or a value over IPC. Called once. */
  listen(onNotice: (message: unknown) => void): void;
  /** Ends the callbacks. Safe to call twice. */
  close(): void;
}
