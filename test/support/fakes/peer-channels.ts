import type { NoticeChannel } from '../../../core/contract/protocol/notices/notice-channel.ts';
import type { PeerNotice } from '../../../core/mcp/peers/peers.ts';

/** Channels between gateways of one test process, as cluster IPC connects gateway processes. */
export function peerChannels() {
  const listeners: ((message: unknown) => void)[] = [];
  return {
    join(): NoticeChannel<PeerNotice> {
      let own: ((message: unknown) => void) | null = null;
      return {
        send(notice) {
          for (const listener of listeners) if (listener !== own) queueMicrotask(() => listener(structuredClone(notice)));
        },
        listen(onNotice) {
          own = onNotice;
          listeners.push(onNotice);
        },
        close() {
          if (own) listeners.splice(listeners.indexOf(own), 1);
        },
      };
    },
  };
}
