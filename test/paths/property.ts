/** Something that holds for every path, as a sentence, checked by exhaustive search. */
export interface Property<G> {
  /** The sentence. */
  readonly name: string;
  /** The first counterexample, in words; nothing if there is none. */
  readonly counterexample: (graph: G) => string | undefined;
}
