/** Stryker's ignorer for code that exists for the compiler alone: no test that runs can tell it from nothing. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'only-for-types',
    value: {
      shouldIgnore(path) {
        if (path.isObjectProperty() && path.node.key.name === 'types') {
          return '`types` of setup() is read by the compiler alone';
        }
        return undefined;
      },
    },
  },
];
