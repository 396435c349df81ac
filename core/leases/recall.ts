import { type RecallNotice, recallNotice } from '../contract/protocol/limits/leases.ts';
import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { readNotice } from '../contract/protocol/notices/read-notice.ts';

export interface Recall {
  /** Requests other processes to return units of this budget that they do not need. */
  send(key: string): void;
  close(): void;
}

const noticeBytesMax = 256 * 1024;
const keysMax = 1_000;

/**
 * Sends and receives recalls. The budgets of one turn of the event loop share a notice. `onRecall` receives each key of a notice.
 */
export function createRecall(channels: readonly NoticeChannel<RecallNotice>[], onRecall: (key: string) => void): Recall {
  const keys = new Set<string>();
  let closed = false;
  for (const channel of channels) {
    channel.listen((message) => {
      if (!closed) for (const key of readNotice(recallNotice, message, noticeBytesMax)?.keys ?? []) onRecall(key);
    });
  }
  return {
    send(key) {
      if (channels.length === 0) return;
      keys.add(key);
      if (keys.size === 1) setImmediate(flush);
    },
    close() {
      closed = true;
      for (const channel of channels) channel.close();
    },
  };

  function flush(): void {
    const all = [...keys];
    keys.clear();
    if (closed) return;
    for (let at = 0; at < all.length; at += keysMax) {
      for (const channel of channels) channel.send({ keys: all.slice(at, at + keysMax) });
    }
  }
}
