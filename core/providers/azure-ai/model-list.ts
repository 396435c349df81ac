import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { chatPath, isSingleModel, mediaPath } from './address.ts';

/** Lists the models of a resource. An endpoint of one model describes it at `/info`, in a form of its own. */
export const modelList: ModelList = {
  path: (settings) => (isSingleModel(settings) ? chatPath(settings, '/info') : mediaPath(settings, '/models')),
  read: (reply) => {
    const { model_name: name, model_provider_name: maker } = reply;
    if (typeof name === 'string') {
      return { models: [{ id: name, created: 0, ownedBy: typeof maker === 'string' ? maker : '' }] };
    }
    const list: readonly unknown[] = Array.isArray(reply.data) ? reply.data : [];
    return {
      models: list.flatMap((item) => {
        if (!isObject(item) || typeof item.id !== 'string') return [];
        const { id, object: _object, created, created_at: createdAt, owned_by: owner, ...more } = item;
        const at = Number(created ?? createdAt);
        return [{ id, created: Number.isFinite(at) ? at : 0, ownedBy: typeof owner === 'string' ? owner : '', more }];
      }),
    };
  },
};
