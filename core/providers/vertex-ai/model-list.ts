import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

const path = '/v1beta1/publishers/google/models?pageSize=300';

/** Google's own models in Model Garden (`publishers.models.list`, v1beta1). Models of other makers are not in this list. */
export const modelList: ModelList = {
  path: () => path,
  read: ({ publisherModels, nextPageToken: token }) => ({
    models: (Array.isArray(publisherModels) ? publisherModels : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.name !== 'string') return [];
      const more = { launch_stage: item.launchStage, version: item.versionId };
      return [{ id: item.name.replace(/^publishers\/google\/models\//, ''), created: 0, ownedBy: 'google', more }];
    }),
    nextPath: typeof token === 'string' && token !== '' ? `${path}&pageToken=${encodeURIComponent(token)}` : null,
  }),
};
