import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

const path = '/v1/models?page_size=1000';

/** https://docs.cohere.com/reference/list-models */
export const modelList: ModelList = {
  path: () => path,
  read: ({ models, next_page_token: token }) => ({
    models: (Array.isArray(models) ? models : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.name !== 'string') return [];
      const more = { context_window: item.context_length, endpoints: item.endpoints };
      return [{ id: item.name, created: 0, ownedBy: 'cohere', more }];
    }),
    nextPath: typeof token === 'string' && token !== '' ? `${path}&page_token=${encodeURIComponent(token)}` : null,
  }),
};
