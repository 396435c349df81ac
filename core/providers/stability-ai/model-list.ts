import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

/**
 * Engines of version 1, the only models that the provider lists (https://platform.stability.ai/docs/api-reference#tag/Engines).
 * The reply is the list alone.
 */
export const modelList: ModelList = {
  path: () => '/v1/engines/list',
  read: ({ data }) => ({
    models: (Array.isArray(data) ? data : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.id !== 'string') return [];
      return [
        { id: item.id, created: 0, ownedBy: 'stability-ai', more: { display_name: item.name, description: item.description } },
      ];
    }),
  }),
};
