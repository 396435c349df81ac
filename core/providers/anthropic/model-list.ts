import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

const path = '/models?limit=1000';

/** https://docs.anthropic.com/en/api/models-list */
export const modelList: ModelList = {
  path: () => path,
  read: ({ data, has_more: hasMore, last_id: lastId }) => ({
    models: (Array.isArray(data) ? data : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.id !== 'string') return [];
      const { type: _type, id, created_at: createdAt, ...more } = item;
      const created = Date.parse(String(createdAt));
      return [{ id, created: Number.isNaN(created) ? 0 : Math.floor(created / 1000), ownedBy: 'anthropic', more }];
    }),
    nextPath: hasMore === true && typeof lastId === 'string' ? `${path}&after_id=${encodeURIComponent(lastId)}` : null,
  }),
};
