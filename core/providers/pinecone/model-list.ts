import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

/** https://docs.pinecone.io/reference/api/2026-07/inference/list_models: one page. */
export const modelList: ModelList = {
  path: () => '/models',
  read: ({ models }) => ({
    models: (Array.isArray(models) ? models : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.model !== 'string') return [];
      const { model, provider_name: owner, ...more } = item;
      return [{ id: model, created: 0, ownedBy: typeof owner === 'string' ? owner : 'pinecone', more }];
    }),
  }),
};
