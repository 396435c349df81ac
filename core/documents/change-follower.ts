import type { ChangesReply } from '../contract/protocol/internal-api.ts';
import { changeNotice } from '../contract/protocol/notices/change-notice.ts';
import { readNotice } from '../contract/protocol/notices/read-notice.ts';
import { openNotice } from '../contract/protocol/notices/sealed-notice.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import type { ControlPlaneClient } from './control-plane-client.ts';
import type { DocumentStore } from './document-store.ts';

export interface ChangeFollowerOptions {
  readonly client: Pick<ControlPlaneClient, 'changes' | 'waitMs'>;
  readonly store: Pick<DocumentStore, 'apply' | 'reset' | 'newest'>;
  /** Key of notices on NATS, see `sealNotice`. */
  readonly noticeKey: Uint8Array;
  readonly timers: Timers;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
}

/** Counts since start. `malformed`: bus messages that were no notices. */
export interface FollowerCounts {
  notices: number;
  malformed: number;
  catchUps: number;
  resets: number;
}

/** Maximum time between two requests to the control plane. */
const pollMs = 5_000;
const retryMs = 250;
const noticeBytesMax = 4096;
/** Beyond the newest revision: the reply is `reset` with the newest revision, where an empty store begins. */
const fromTheEnd = Number.MAX_SAFE_INTEGER;
const missedText = 'change notices were missed; reloading all documents';
const olderText = 'the database has lost changes, for example in a restore or a failover; reloading all documents';

/**
 * Keeps the store in step with the control plane's log of changes. Notices from the bus are applied in order of arrival. A gap, a
 * reconnect or the end of `pollMs` triggers a request for all changes since the last reply. Notices only save time: every request
 * starts at the last *reply*, so the next one corrects a lost or forged notice.
 */
export class ChangeFollower {
  readonly counts: FollowerCounts = { notices: 0, malformed: 0, catchUps: 0, resets: 0 };
  readonly #options: ChangeFollowerOptions;
  /** All changes up to this revision were applied, according to the bus. */
  #last: number;
  /** All changes up to this revision were applied, as confirmed by the control plane. */
  #read: number;
  /** Distinguishes the change with this revision; null if unknown. */
  #mark: string | null;
  #running: Promise<boolean> | null = null;
  #again = false;
  #stopped = false;
  #cancelNext: () => void = () => {};

  /** `lastRevision` and `mark`: the change that the store is known to be in step with. Null for an empty store. */
  constructor(options: ChangeFollowerOptions, lastRevision: number | null, mark: string | null = null) {
    this.#options = options;
    this.#read = lastRevision ?? fromTheEnd;
    this.#last = this.#read;
    this.#mark = mark;
  }

  /** The revision the store is in step with. Null until the control plane has replied to an empty store. */
  get lastRevision(): number | null {
    return this.#read === fromTheEnd ? null : Math.max(this.#last, this.#read);
  }

  /** The change up to which the control plane has confirmed all changes. Null until it has replied to an empty store. */
  get confirmed(): { readonly lastRevision: number; readonly mark: string | null } | null {
    return this.#read === fromTheEnd ? null : { lastRevision: this.#read, mark: this.#mark };
  }

  /** Handles a message of the bus: bytes or value. Never throws. */
  receive(input: unknown): void {
    if (this.#stopped) return;
    const sealed = readNotice(changeNotice, input, noticeBytesMax);
    const notice = sealed && openNotice(this.#options.noticeKey, sealed);
    if (!notice) {
      this.counts.malformed += 1;
      return;
    }
    this.counts.notices += 1;
    if (this.#read === fromTheEnd || notice.revision > this.#last + 1) {
      void this.catchUp();
    } else if (notice.revision === this.#last + 1) {
      this.#last = notice.revision;
      this.#options.store.apply(notice);
    }
  }

  /** Requests all changes since the last reply. False if the control plane could not be read; the request is then repeated. */
  catchUp(): Promise<boolean> {
    if (this.#running) this.#again = true;
    else this.#running = this.#run();
    return this.#running;
  }

  /** Stops requesting and applying changes. */
  stop(): void {
    this.#stopped = true;
    this.#cancelNext();
  }

  async #run(): Promise<boolean> {
    this.#cancelNext();
    let inStep = true;
    do {
      this.#again = false;
      this.counts.catchUps += 1;
      inStep = await this.#pull();
    } while (this.#again && inStep && !this.#stopped);
    this.#running = null;
    if (!this.#stopped) this.#cancelNext = this.#options.timers.after(this.#delayMs(inStep), () => void this.catchUp());
    return inStep;
  }

  async #pull(): Promise<boolean> {
    for (;;) {
      let reply: ChangesReply;
      // Taken before the request, because a document that arrives meanwhile may be newer than the reply. Notices do not count: they may be
      // forged, or come from another installation that shares the NATS server.
      const { newest } = this.#options.store;
      try {
        reply = await this.#options.client.changes(this.#read, this.#mark);
      } catch {
        return false;
      }
      if (this.#stopped) return false;
      if (this.#take(reply, newest)) return true;
    }
  }

  /**
   * Returns true if the reply holds all changes, false if there are more to request. `known`: the newest revision at which the store had
   * read a document before the request.
   */
  #take(reply: ChangesReply, known: number): boolean {
    const newest = reply.changes.at(-1)?.revision;
    // A reply without progress (no changes, but another revision) can be corrected only by reading everything again.
    const missed = newest === undefined ? reply.revision !== this.#read : newest <= this.#read;
    const from = Math.max(known, this.#read);
    const isOlder = reply.revision < from;
    if (reply.reset || missed || isOlder) {
      if (this.#read !== fromTheEnd) {
        this.counts.resets += 1;
        this.#options.log.warn({ from, to: reply.revision }, isOlder ? olderText : missedText);
      }
      this.#options.store.reset(reply.revision);
      this.#read = reply.revision;
    } else {
      for (const change of reply.changes) this.#options.store.apply(change);
      if (newest !== undefined) this.#read = newest;
    }
    this.#last = this.#read;
    this.#mark = reply.mark ?? null;
    return this.#read >= reply.revision;
  }

  #delayMs(inStep: boolean): number {
    const { client, random } = this.#options;
    // The interval has jitter, because gateways that poll in step would all send requests at the same moment.
    if (inStep) return pollMs * (0.8 + random() / 5);
    return Math.max(client.waitMs(), retryMs * (0.5 + random() / 2));
  }
}
