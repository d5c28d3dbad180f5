# The command line in a container:
#   docker build -t oblique .
#   docker run --rm -v "$PWD:/work" oblique tree my.csv --target y
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels "/source[figures,onnx,parquet]"

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir --no-index --find-links /wheels "oblique-trees[figures,onnx,parquet]" \
    && rm -r /wheels && useradd --create-home oblique
USER oblique
WORKDIR /work
ENTRYPOINT ["oblique"]
CMD ["--help"]
