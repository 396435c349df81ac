/** Sends small notices to other gateway processes: fast, without guaranteed delivery. */
export interface NoticeChannel<Notice extends object> {
  send(notice: Notice): void;
  /** Passes on each message as it arrived, unchecked: JSON bytes, or a value over IPC. Called once. */
  listen(onNotice: (message: unknown) => void): void;
  /** No callback after this. Safe to call twice. */
  close(): void;
}
