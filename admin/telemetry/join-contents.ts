import type { RecordContent } from '../../core/contract/protocol/record-contents.ts';
import type { Timers } from '../../core/contract/values/time/timers.ts';
import type { KeyValue } from '../../core/telemetry/otlp/attributes.ts';
import { contentAttributes } from '../../core/telemetry/otlp/content-attributes.ts';
import type { OtlpExporter } from '../../core/telemetry/otlp/exporter.ts';
import type { ExportedRecord } from '../../core/telemetry/otlp/request-spans.ts';

export interface ContentJoinOptions {
  /** Characters of one list of messages. */
  readonly charsMax: number;
  readonly timers: Timers;
  readonly exporter: Pick<OtlpExporter<ExportedRecord>, 'add' | 'queued'>;
}

/** Time that a record waits for its content, and a content for its record. Gateways send both within a second. */
const waitMs = 2_000;
/** Maximum number of records and of contents that wait here, and of records with content in the exporter's queue. */
const waitingMax = 500;

/** Adds the content of requests to their spans. Records and contents arrive separately, in either order. */
export class ContentJoin {
  readonly #options: ContentJoinOptions;
  readonly #records = new Map<string, { readonly item: ExportedRecord; readonly cancel: () => void }>();
  readonly #contents = new Map<string, { readonly content: readonly KeyValue[]; readonly cancel: () => void }>();

  constructor(options: ContentJoinOptions) {
    this.#options = options;
  }

  /** Exports the record with its content, or without if none arrives in time. */
  add(item: ExportedRecord): void {
    const { exporter, timers } = this.#options;
    const { id } = item.record;
    const found = this.#contents.get(id);
    if (found) {
      found.cancel();
      this.#contents.delete(id);
      exporter.add({ ...item, content: found.content });
    } else if (this.#records.size >= waitingMax) {
      exporter.add(item);
    } else {
      this.#records.set(id, { item, cancel: timers.after(waitMs, () => this.#release(id)) });
    }
  }

  addContents(contents: readonly RecordContent[]): void {
    const { exporter, charsMax, timers } = this.#options;
    for (const one of contents) {
      const { id } = one;
      const isFull = exporter.queued >= waitingMax || this.#contents.size >= waitingMax;
      const content = isFull ? [] : contentAttributes(one, charsMax);
      if (this.#records.has(id)) this.#release(id, content);
      else if (content.length > 0) {
        this.#contents.set(id, { content, cancel: timers.after(waitMs, () => this.#contents.delete(id)) });
      }
    }
  }

  /** Exports the records that wait, without content. */
  close(): void {
    for (const id of [...this.#records.keys()]) this.#release(id);
    for (const { cancel } of this.#contents.values()) cancel();
    this.#contents.clear();
  }

  #release(id: string, content: readonly KeyValue[] = []): void {
    const found = this.#records.get(id);
    if (!found) return;
    found.cancel();
    this.#records.delete(id);
    this.#options.exporter.add(content.length === 0 ? found.item : { ...found.item, content });
  }
}
