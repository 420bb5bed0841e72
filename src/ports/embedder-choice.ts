/** The embedder that the settings choose for recall. */
export type EmbedderChoice =
  | ({ readonly kind: 'builtin' } & Threads)
  | ({
      readonly kind: 'onnx';
      /** Absolute. */
      readonly folder: string;
      /** The model's file, within the folder. */
      readonly file: string;
      readonly related: number;
    } & Threads)
  | {
      readonly kind: 'api';
      /** Ends in `/v1`. */
      readonly url: string;
      readonly model: string;
      readonly key: string | null;
      readonly related: number;
    };

/** The number of threads in which the model runs; default 1. */
type Threads = { readonly threads?: number };
