import type { ConfigDocument } from '../../protocol/documents.ts';

/** The config that a request selected. The gateway looks up its plan behind the plugins of stage `config`. */
export interface ConfigChoice {
  /** The saved config; null if there is none. */
  readonly document: ConfigDocument | null;
  /** The text of the inline config; null if there is none. */
  readonly inline: string | null;
  /** The mode that a config without cache settings uses; null: no cache. */
  readonly cacheMode: 'simple' | 'semantic' | null;
}
