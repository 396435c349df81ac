import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html: one page. */
export const modelList: ModelList = {
  path: () => '/foundation-models',
  read: ({ modelSummaries: summaries }) => ({
    models: (Array.isArray(summaries) ? summaries : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.modelId !== 'string') return [];
      const more = {
        display_name: item.modelName,
        input_modalities: item.inputModalities,
        output_modalities: item.outputModalities,
        inference_types: item.inferenceTypesSupported,
      };
      return [{ id: item.modelId, created: 0, ownedBy: String(item.providerName ?? ''), more }];
    }),
  }),
};
