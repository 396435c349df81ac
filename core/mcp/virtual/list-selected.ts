import { allItems } from '../../contract/protocol/mcp/mcp-virtual.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { MissingServer } from '../local-replies/tool-source.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { listWithin, reasonOf } from './within-time.ts';

/** A selection of one item of a server, or of all its items that are not selected by themselves. */
export interface Selection {
  readonly serverId: string;
  /** Slug of the server. */
  readonly server: string;
}

export interface SelectedParts<One extends Selection> {
  readonly selections: readonly One[];
  /** Milliseconds to wait for the list of each server. */
  readonly listTimeoutMs: number;
  /** The member of items that identifies them for clients. */
  readonly key: string;
  /** Name or URI at the server, or `allItems`. */
  itemOf(selection: One): string;
  /** Returns the settings of the server behind a selection; null if it does not exist or the caller has no access to it. */
  find(selection: One): Promise<ServerSettings | null>;
  /** Reads the items of a server that the caller may use. */
  read(server: ServerSettings): Promise<readonly JsonObject[]>;
  /** Returns an item as clients see it. `isAll`: the selection is one of all items. */
  show(item: JsonObject, selection: One, isAll: boolean): JsonObject;
}

export interface SelectedItems {
  readonly items: readonly JsonObject[];
  /** Servers whose items are missing, because they did not reply in time. */
  readonly missing: readonly MissingServer[];
}

/**
 * Returns the selected items in the order of their selections. A name or URI is shown once: items that are selected by themselves come
 * before those of `allItems`, and then the first one wins.
 */
export async function listSelected<One extends Selection>(parts: SelectedParts<One>): Promise<SelectedItems> {
  const { selections, listTimeoutMs, key, itemOf, find, read, show } = parts;
  const missing: MissingServer[] = [];
  const servers = [...new Set(selections.map(({ server }) => server))];
  const shown = (await Promise.all(servers.map(itemsOf))).flat().sort((one, other) => one.order - other.order);
  const byKey = new Map<unknown, Shown>();
  for (const one of shown) if (!one.isAll) byKey.set(one.item[key], one);
  for (const one of shown) if (!byKey.has(one.item[key])) byKey.set(one.item[key], one);
  return { items: shown.filter((one) => byKey.get(one.item[key]) === one).map(({ item }) => item), missing };

  async function itemsOf(server: string): Promise<Shown[]> {
    const own = selections.filter((one) => one.server === server);
    try {
      const found = await find(own[0] as One);
      if (found === null) return [];
      const items = new Map((await listWithin(read(found), listTimeoutMs)).map((item) => [String(item[key]), item]));
      const named = new Set(own.map(itemOf));
      return own.flatMap((selection) => {
        const isAll = itemOf(selection) === allItems;
        const keys = isAll ? [...items.keys()].filter((one) => !named.has(one)) : [itemOf(selection)];
        const order = selections.indexOf(selection);
        return keys.flatMap((one) => {
          const item = items.get(one);
          return item === undefined ? [] : [{ item: show(item, selection, isAll), order, isAll }];
        });
      });
    } catch (thrown) {
      missing.push({ server, reason: reasonOf(thrown) });
      return [];
    }
  }
}

interface Shown {
  readonly item: JsonObject;
  /** Position of the selection. */
  readonly order: number;
  readonly isAll: boolean;
}
