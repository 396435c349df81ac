import type { ListedModel, ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

/** https://developers.deepgram.com/reference/manage/models/list: transcribing (`stt`) and speaking (`tts`) models, each version of them. */
export const modelList: ModelList = {
  path: () => '/models',
  read: ({ stt, tts }) => {
    const models = new Map<string, ListedModel>();
    for (const [kind, list] of [
      ['stt', stt],
      ['tts', tts],
    ] as const) {
      for (const item of Array.isArray(list) ? list : []) {
        if (!isObject(item) || typeof item.canonical_name !== 'string') continue;
        const more = { type: kind, architecture: item.architecture, languages: item.languages, version: item.version };
        models.set(item.canonical_name, { id: item.canonical_name, created: 0, ownedBy: 'deepgram', more });
      }
    }
    return { models: [...models.values()] };
  },
};
